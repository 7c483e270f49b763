import { describe, expect, it } from 'vitest'
import type { DestinationFilterRules } from '../../api/schema.ts'
import { draftOf, NO_RULES, parsedRules, rulesOf, ruleWords, sentenceOf } from './filter-rules.ts'

const RULES: DestinationFilterRules = {
  enabled: true,
  groups: [
    {
      logic: 'or',
      rules: [
        { field: 'model', operator: 'starts_with', value: 'demo/' },
        { field: 'total_cost', operator: 'gt', value: 0.01 },
      ],
    },
    { logic: 'and', rules: [{ field: 'input', operator: 'exists' }] },
  ],
}

describe('filter rules', () => {
  it('come back from the editor as they went in', () => {
    expect(rulesOf(draftOf(RULES))).toEqual(RULES)
    expect(rulesOf(draftOf({ ...RULES, enabled: false }))).toEqual({ ...RULES, enabled: false })
    expect(rulesOf(draftOf(null))).toBeNull()
  })

  it('are none without a rule: groups that ask nothing are left out', () => {
    expect(rulesOf(NO_RULES)).toBeNull()
    expect(rulesOf({ enabled: true, groups: [{ logic: 'or', rules: [] }] })).toBeNull()
  })

  it.each([
    ['5', 5],
    ['0.01', 0.01],
    ['-3', -3],
    ['007', '007'],
    ['1e3', '1e3'],
    ['Infinity', 'Infinity'],
    ['', ''],
    [' 5', ' 5'],
  ])('compare with %j as %j, so that no character is lost', (value, wanted) => {
    const rule = { field: 'user_id', operator: 'equals', value }
    expect(rulesOf({ enabled: true, groups: [{ logic: 'and', rules: [rule] }] })?.groups[0]?.rules[0]?.value).toBe(wanted)
  })

  it('that ask whether a field exists have no value', () => {
    const rule = { field: 'user_id', operator: 'not_exists', value: 'left over' }
    expect(rulesOf({ enabled: true, groups: [{ logic: 'and', rules: [rule] }] })?.groups[0]?.rules[0]).toEqual({
      field: 'user_id',
      operator: 'not_exists',
    })
  })

  it('may be typed as JSON, and say what is wrong with it', () => {
    expect(parsedRules(JSON.stringify(RULES))).toEqual({ rules: RULES })
    expect(parsedRules('  ')).toEqual({ rules: null })
    expect(parsedRules('null')).toEqual({ rules: null })
    for (const bad of ['{', '[]', '{"groups": [1]}', '{"groups": [{"rules": {}}]}', '{"groups": [{"rules": ["x"]}]}', '{"groups": null}', '7']) {
      expect([bad, Object.keys(parsedRules(bad))]).toEqual([bad, ['problem']])
    }
  })

  it.each([
    ['{"enable": false, "groups": []}', 'has no member “enable”'],
    ['{"enabled": "no", "groups": []}', 'enabled: expected true or false'],
    ['{"groups": [{"logik": "or", "rules": []}]}', 'groups.0 has no member “logik”'],
    ['{"groups": [{"logic": null, "rules": []}]}', 'groups.0.logic: expected a text'],
    ['{"groups": [{"rules": [{"field": "model", "operator": "equals", "values": ["a"]}]}]}', 'groups.0.rules.0 has no member “values”'],
    [
      '{"groups": [{"rules": [{"field": "model", "operator": "equals", "value": ["a", "b"]}]}]}',
      'groups.0.rules.0.value: expected a text or a number',
    ],
    ['{"groups": [{"rules": [{"field": "model", "operator": "equals", "value": null}]}]}', 'groups.0.rules.0.value: expected a text or a number'],
  ])('are refused as JSON if saving would silently change them: %s', (text, problem) => {
    expect(parsedRules(text)).toEqual({ problem })
  })

  it('take their fields and operators from the schema, also behind a reference and beside null', () => {
    const rule = { properties: { field: { enum: ['model'] }, operator: { enum: ['equals'] } } }
    const Rules = { type: 'object', properties: { groups: { maxItems: 20, items: { properties: { rules: { maxItems: 50, items: rule } } } } } }
    const schema = { anyOf: [{ $ref: '#/components/schemas/Rules' }, { type: 'null' }] }
    expect(ruleWords(schema, { Rules })).toEqual({ fields: ['model'], operators: ['equals'], maxGroups: 20, maxRules: 50 })
  })

  it('are summarised in one line', () => {
    expect(sentenceOf(RULES)).toBe('(model starts with "demo/" or total_cost gt 0.01) and (input exists)')
    expect(sentenceOf({ groups: [{ rules: RULES.groups[1]!.rules }], enabled: false })).toBe('Everything; filter disabled: input exists')
    expect(sentenceOf(null)).toBe('Everything')
  })
})
