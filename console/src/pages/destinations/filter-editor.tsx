import { Button, CloseButton, Fieldset, Group, Input, SegmentedControl, Select, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { draftOf, parsedRules, rulesOf, takesValue, type GroupDraft, type RuleDraft, type RulesDraft, type RuleWords } from './filter-rules.ts'
import { problemAt } from './problems.ts'
import type { Problems } from './values.ts'

export interface FilterEditorProps {
  readonly words: RuleWords
  readonly rules: RulesDraft
  readonly problems: Problems
  readonly onChange: (rules: RulesDraft) => void
  /** Why the typed JSON cannot be sent; undefined if it can. */
  readonly onProblem: (problem: string | undefined) => void
}

const PATH = 'filter_rules'
const WAYS = [
  { value: 'rules', label: 'Rules' },
  { value: 'json', label: 'JSON' },
]

/** Which calls are forwarded: groups that must all match, each with rules of which all or any must match. Can also be edited as JSON. */
export function FilterEditor({ words, rules, problems, onChange, onProblem }: FilterEditorProps): ReactNode {
  // Undefined: edited as rules.
  const [text, setText] = useState<string>()
  const change = (mode: string): void => {
    setText(mode === 'json' ? JSON.stringify(rulesOf(rules), null, 2) : undefined)
    onProblem(undefined)
  }
  const type = (typed: string): void => {
    setText(typed)
    const parsed = parsedRules(typed)
    onProblem('problem' in parsed ? parsed.problem : undefined)
    if ('rules' in parsed) onChange(draftOf(parsed.rules))
  }
  return (
    <Input.Wrapper
      label="Filter"
      labelElement="div"
      description="Only calls that match every group are forwarded. Without rules, all calls are."
      error={text === undefined ? ownProblem(problems) : undefined}
    >
      <Fieldset variant="unstyled" mt={6} mx={0} p={0} aria-label="Filter">
        <Stack gap="xs">
          <Group justify="space-between">
            <SegmentedControl size="xs" aria-label="Edit the filter as" data={WAYS} value={text === undefined ? 'rules' : 'json'} onChange={change} />
            {rules.groups.length > 0 && (
              <Switch
                size="xs"
                label="Filter enabled"
                checked={rules.enabled}
                onChange={({ currentTarget }) => onChange({ ...rules, enabled: currentTarget.checked })}
                disabled={text !== undefined}
              />
            )}
          </Group>
          {text === undefined ? (
            <Groups words={words} rules={rules} problems={problems} onChange={onChange} />
          ) : (
            <Textarea
              aria-label="Filter as JSON"
              value={text}
              error={problemAt(problems, PATH)}
              autosize
              minRows={4}
              maxRows={20}
              spellCheck={false}
              styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
              onChange={({ currentTarget }) => type(currentTarget.value)}
            />
          )}
        </Stack>
      </Fieldset>
    </Input.Wrapper>
  )
}

/** The problem that belongs to no single rule. */
const ownProblem = (problems: Problems): string | undefined =>
  problemAt(Object.fromEntries(Object.entries(problems).filter(([path]) => !/\.rules\.\d+/.test(path))), PATH)

type GroupsProps = Pick<FilterEditorProps, 'words' | 'rules' | 'problems' | 'onChange'>

function Groups({ words, rules, problems, onChange }: GroupsProps): ReactNode {
  const { groups } = rules
  const set = (at: number, group: GroupDraft | undefined): void =>
    onChange({
      ...rules,
      groups: groups.flatMap((one, index) => (index !== at ? [one] : group === undefined || group.rules.length === 0 ? [] : [group])),
    })
  const rule: RuleDraft = { field: words.fields[0] ?? '', operator: words.operators[0] ?? '', value: '' }
  return (
    <>
      {groups.map((group, at) => (
        <RuleGroup
          key={at}
          number={at + 1}
          group={group}
          words={words}
          added={rule}
          problems={problems}
          path={`${PATH}.groups.${at}.rules`}
          onChange={(next) => set(at, next)}
        />
      ))}
      {groups.length < words.maxGroups && (
        <Group>
          <Button size="xs" variant="default" onClick={() => onChange({ ...rules, groups: [...groups, { logic: 'and', rules: [rule] }] })}>
            {groups.length === 0 ? 'Add a rule' : 'Add a group'}
          </Button>
        </Group>
      )}
    </>
  )
}

interface RuleGroupProps {
  readonly number: number
  readonly group: GroupDraft
  readonly words: RuleWords
  /** The initial values of a new rule. */
  readonly added: RuleDraft
  readonly problems: Problems
  readonly path: string
  readonly onChange: (group: GroupDraft | undefined) => void
}

const LOGICS = [
  { value: 'and', label: 'All of these' },
  { value: 'or', label: 'Any of these' },
]

function RuleGroup({ number, group, words, added, problems, path, onChange }: RuleGroupProps): ReactNode {
  const set = (at: number, part: Partial<RuleDraft>): void =>
    onChange({ ...group, rules: group.rules.map((rule, index) => (index === at ? { ...rule, ...part } : rule)) })
  return (
    <Fieldset p="xs" aria-label={`Group ${number}`}>
      <Stack gap={6}>
        <Group justify="space-between" wrap="nowrap">
          <Group gap="xs">
            {number > 1 && (
              <Text size="sm" c="dimmed">
                and
              </Text>
            )}
            <SegmentedControl
              size="xs"
              aria-label={`Group ${number} matches if`}
              data={LOGICS}
              value={group.logic}
              onChange={(logic) => onChange({ ...group, logic })}
            />
          </Group>
          <CloseButton size="sm" aria-label={`Remove group ${number}`} onClick={() => onChange(undefined)} />
        </Group>
        {group.rules.map((rule, at) => (
          <RuleRow
            key={at}
            name={`Rule ${number}.${at + 1}`}
            rule={rule}
            words={words}
            problem={problemAt(problems, `${path}.${at}`)}
            onSet={(part) => set(at, part)}
            onRemove={() => onChange({ ...group, rules: group.rules.filter((_rule, index) => index !== at) })}
          />
        ))}
        {group.rules.length < words.maxRules && (
          <Group>
            <Button size="compact-xs" variant="subtle" onClick={() => onChange({ ...group, rules: [...group.rules, added] })}>
              Add a rule to the group
            </Button>
          </Group>
        )}
      </Stack>
    </Fieldset>
  )
}

interface RuleRowProps {
  readonly name: string
  readonly rule: RuleDraft
  readonly words: RuleWords
  readonly problem: string | undefined
  readonly onSet: (part: Partial<RuleDraft>) => void
  readonly onRemove: () => void
}

const optionsOf = (words: readonly string[]) => words.map((value) => ({ value, label: value.replaceAll('_', ' ') }))

function RuleRow({ name, rule, words, problem, onSet, onRemove }: RuleRowProps): ReactNode {
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <Group gap={6} flex={1} align="flex-start">
        <Select
          flex="1 1 130px"
          size="xs"
          aria-label={`${name}: field`}
          data={optionsOf(words.fields)}
          value={rule.field}
          allowDeselect={false}
          onChange={(field) => onSet({ field: field ?? rule.field })}
        />
        <Select
          flex="1 1 120px"
          size="xs"
          aria-label={`${name}: operator`}
          data={optionsOf(words.operators)}
          value={rule.operator}
          allowDeselect={false}
          error={takesValue(rule.operator) ? undefined : problem}
          onChange={(operator) => onSet({ operator: operator ?? rule.operator })}
        />
        {takesValue(rule.operator) && (
          <TextInput
            flex="2 1 150px"
            size="xs"
            aria-label={`${name}: value`}
            placeholder="Value"
            value={rule.value}
            error={problem}
            spellCheck={false}
            onChange={({ currentTarget }) => onSet({ value: currentTarget.value })}
          />
        )}
      </Group>
      <CloseButton size="sm" mt={4} aria-label={`Remove ${name.toLowerCase()}`} onClick={onRemove} />
    </Group>
  )
}
