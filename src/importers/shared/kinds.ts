/**
 * Models that speak, draw, listen, sort or judge, by how they are named: no door here serves them, and sources need not say what they are.
 * The first group names the kind.
 */
const KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['speech', /(?:^|[-_/.])(?:whisper|tts|transcribe|transcription|speech)(?:[-_:.@]|\d|$)/i],
  ['images', /(?:^|[-_/.])(?:dall-e|gpt-image|imagen|imagegeneration|stable-diffusion|sdxl|sd3|stable-image|titan-image)(?:[-_:.@]|\d|$)/i],
  ['videos', /(?:^|[-_/.])(?:sora|veo)(?:[-_:.@]|\d|$)/i],
  ['ranking', /re-?rank/i],
  ['moderation', /(?:^|[-_/.])moderation(?:[-_:.@]|$)/i],
  ['live sessions', /(?:^|[-_/.])realtime(?:[-_:.@]|$)/i],
]

/** What a model of that name does that nothing here serves; undefined: it is served. */
export const unservedKind = (id: string): string | undefined => KINDS.find(([, pattern]) => pattern.test(id))?.[0]
