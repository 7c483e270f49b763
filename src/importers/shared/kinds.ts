/**
 * Patterns of names for models of speech, images, videos, ranking, moderation or live sessions. No endpoint here serves them, and sources need not
 * say what they are. The first element names the kind.
 */
const KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['speech', /(?:^|[-_/.])(?:whisper|tts|transcribe|transcription|speech)(?:[-_:.@]|\d|$)/i],
  ['images', /(?:^|[-_/.])(?:dall-e|gpt-image|imagen|imagegeneration|stable-diffusion|sdxl|sd3|stable-image|titan-image)(?:[-_:.@]|\d|$)/i],
  ['videos', /(?:^|[-_/.])(?:sora|veo)(?:[-_:.@]|\d|$)/i],
  ['ranking', /re-?rank/i],
  ['moderation', /(?:^|[-_/.])moderation(?:[-_:.@]|$)/i],
  ['live sessions', /(?:^|[-_/.])realtime(?:[-_:.@]|$)/i],
]

/** The kind of an unserved model, by its name; undefined if it is served. */
export const unservedKind = (id: string): string | undefined => KINDS.find(([, pattern]) => pattern.test(id))?.[0]
