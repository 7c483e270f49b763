/**
 * Phrases of known attacks on instructions, written for this gateway along the classes of the OWASP cheat sheet on prompt injection. In the sources a
 * space stands for white space; all repetitions are bounded.
 */

const WHO = '(?:your|the|my|all|any|every|these|those|its|all of the|all of your)'
const PRIOR = '(?:previous|prior|earlier|above|preceding|former|existing|original|initial|system|developer|safety)'
const WHAT = '(?:instructions?|rules?|guidelines?|constraints?|directives?|prompts?|orders|commands|guidance|restrictions)'
const GUARD = '(?:safety|security|content|ethical|moderation)'

const SOURCES: { readonly [name: string]: string } = {
  // Overriding earlier instructions.
  override_previous: `\\b(?:ignore|disregard|forget|bypass|override|overrule|neglect|drop|discard|skip)(?: ${WHO})?(?: ${PRIOR}){1,3} ${WHAT}\\b`,
  override_own: `\\b(?:ignore|disregard|forget|override|overrule) ${WHO} ${WHAT}\\b`,
  forget_everything:
    '\\b(?:ignore|forget|disregard) (?:everything|all)(?: that)?(?: (?:was|you were|you have been|has been))? (?:above|before|told|said|written|so far)\\b',
  do_not_follow: `\\b(?:do not|don.?t|never|stop) (?:follow|obey|following|obeying)(?: ${WHO})?(?: ${PRIOR}){1,2}(?: ${WHAT})?\\b`,
  instructions_void: `\\b${PRIOR} ${WHAT} (?:are|is|have been|has been|were) (?:now )?(?:void|invalid|null|obsolete|cancell?ed|revoked|superseded|replaced)\\b`,
  supersede: `\\bsupersedes? (?:${WHO} )?(?:${PRIOR} ){1,2}${WHAT}\\b`,
  new_instructions: `(?:^|[\\n.!?>*#]) ?(?:(?:your|here are your|these are your) )?(?:new|updated|revised|real) (?:system )?${WHAT} ?:`,
  system_override: '\\bsystem override\\b',
  // Special modes that do not exist.
  special_mode:
    '\\b(?:enter|enable|activate|switch to|turn on|you are now in|you are in) (?:the )?(?:developer|admin|administrator|debug|maintenance|god|root|sudo|jailbreak|unrestricted|unfiltered) mode\\b',
  jailbreak: '\\bjailbr(?:eak|oken|eaking)(?:ed)? (?:mode|prompt|version|yourself)\\b',
  do_anything_now: '\\bdo anything now\\b',
  // Another identity, without rules.
  no_longer_bound: '\\byou are (?:no longer|not) (?:bound|restricted|limited|constrained|governed) (?:by|to)\\b',
  act_unbound:
    '\\b(?:act|behave|respond|answer|reply) as (?:if|though) you (?:are not|aren.?t|were not|weren.?t|have no|had no) (?:bound|restricted|limited|rules|restrictions|filters|guidelines)\\b',
  identity_without_rules:
    '\\byou are now (?:an? )?[\\w-]{1,24}[^\\n]{0,60}\\b(?:without (?:any )?(?:restrictions?|rules|limits|filters)|no (?:rules|limits|restrictions|filters|boundaries)|unrestricted|unfiltered|uncensored|obeys? only)\\b',
  pretend_other:
    '\\bpretend (?:to be |that you are |you are |you.?re )(?:an? )?(?:different|another|unrestricted|evil|uncensored) (?:ai|assistant|model|chatbot|system)\\b',
  // Revealing the instructions.
  reveal_prompt: `\\b(?:reveal|show|print|output|display|leak|expose|repeat|tell|give|dump|write out)(?: (?:me|us|out))?(?: ${WHO})?(?: (?:full|hidden|complete|entire|exact|secret|internal|original|initial|verbatim|actual)){0,2} (?:system|initial|original|hidden|developer|secret) (?:prompt|message|instructions?)\\b`,
  reveal_own_prompt:
    '\\b(?:reveal|leak|expose|dump|print)(?: (?:me|us))? (?:your|its) (?:(?:full|hidden|entire|exact|secret|internal) )?(?:prompt|instructions?)\\b',
  repeat_above: '\\brepeat (?:everything|all|the (?:text|words|instructions?|lines?)) (?:above|before|that came before)\\b',
  what_instructions: '\\bwhat (?:are|were) your (?:exact |original |initial |system )(?:instructions?|prompts?)\\b',
  // Bypassing filters.
  bypass_filters: `\\b(?:bypass|disable|circumvent|evade|ignore|disregard|turn off|switch off|remove)(?: ${WHO})? ${GUARD}(?: ${GUARD})? (?:filters?|measures?|guidelines?|restrictions?|rules?|checks?|polic(?:y|ies)|protocols?|features?)\\b`,
  // Faked parts of the conversation.
  fake_role_tag: '< ?/? ?(?:system|assistant|developer|user|tool|function)(?: [^<>]{0,40})?/? ?>',
  fake_role_label: '\\[ ?/?(?:system|system message|assistant|internal|inst) ?\\]',
  fake_system_line: '(?:^|\\n)[\\t\\x20>#*]{0,8}system(?: message| prompt)? ?: ',
  control_token:
    '<[|\\uff5c](?:im_start|im_end|im_sep|eot_id|start_header_id|end_header_id|endoftext|begin_of_text|end[_\\u2581]of[_\\u2581]sentence|begin[_\\u2581]of[_\\u2581]sentence|system|user|assistant)[|\\uff5c]>',
}

export interface InjectionPattern {
  readonly name: string
  readonly pattern: RegExp
}

const spaced = (source: string, least: 0 | 1): string => source.replaceAll(' ?', '[\\s_]{0,32}').replaceAll(' ', `[\\s_]{${least},32}`)

const compile = (least: 0 | 1): readonly InjectionPattern[] =>
  Object.entries(SOURCES).map(([name, source]) => ({ name, pattern: new RegExp(spaced(source, least), 'gi') }))

/** As people write. */
export const INJECTION_PATTERNS = compile(1)
/** For texts whose words were run together, so that there are no word boundaries. */
export const SQUASHED_PATTERNS: readonly InjectionPattern[] = compile(0).map(({ name, pattern }) => ({
  name,
  pattern: new RegExp(pattern.source.replaceAll('\\b', ''), 'gi'),
}))

/** Words that attackers scramble: with the middle letters in any order they can still be read. */
const SCRAMBLED = new Map(['ignore', 'bypass', 'override', 'reveal', 'delete', 'system', 'prompt', 'instructions'].map((word) => [keyOf(word), word]))
/** In a text that was hidden by an encoding, two different words of these are no accident. */
export const SUSPECT_WORDS = /\b(?:ignore|bypass|override|reveal|system|prompt|instructions?|disregard|jailbreak)\b/gi

function keyOf(word: string): string {
  return word[0]! + word.slice(1, -1).split('').sort().join('') + word.at(-1)!
}

/** The word of the list that this one is a scrambled form of; undefined for the word itself and for all others. */
export function scrambledWord(word: string): string | undefined {
  const lower = word.toLowerCase()
  const target = SCRAMBLED.get(keyOf(lower))
  return target === undefined || target === lower ? undefined : target
}
