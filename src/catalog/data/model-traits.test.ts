import { expect, it } from 'vitest'
import { traitsOf } from './model-traits.ts'

it.each([
  ['openai/gpt-6-sol', true],
  ['openai/gpt-5-chat', false],
  ['anthropic/claude-sonnet-4.5', false],
  ['anthropic/claude-3.5-sonnet', false],
  ['anthropic/claude-opus-4.8', false],
  ['anthropic/claude-opus-5', true],
  ['anthropic/claude-sonnet-5.5', true],
  ['anthropic/claude-fable-5.1', true],
  ['google/gemini-2.5-flash-lite', false],
  ['google/gemini-4-argon', true],
  ['google/gemini-flash-latest', true],
  ['deepseek/deepseek-flash', true],
  ['deepseek/deepseek-chat', false],
  ['moonshotai/kimi-k3', true],
])('%s reasons by default: %s', (slug, thinks) => {
  expect(traitsOf(slug).reasonsByDefault).toBe(thinks)
})

it.each([
  ['google/gemini-3-pro-image', ['text', 'image']],
  ['google/gemini-nano-banana-2.1', ['text', 'image']],
  ['google/gemini-4-argon', ['text']],
])('%s answers with %j', (slug, outputs) => {
  expect(traitsOf(slug).outputs).toEqual(outputs)
})

it.each([
  ['openai/gpt-3.5-turbo', false],
  ['openai/gpt-4.1-mini', false],
  ['openai/chatgpt-4o-latest', false],
  ['openai/o4-mini', false],
  ['openai/codex-mini', false],
  ['openai/gpt-5-chat', false],
  ['openai/gpt-5-codex', false],
  ['openai/gpt-5.1-codex-max', false],
  ['openai/gpt-5.2-codex', false],
  ['openai/o3', false],
  ['azure/gpt-4o', false],
  ['openai/gpt-5', true],
  ['openai/gpt-5-mini', true],
  ['openai/gpt-5.1-chat', true],
  ['openai/gpt-5.3-codex', true],
  ['openai/gpt-6-sol', true],
  ['anthropic/claude-opus-5', true],
])('%s supports verbosity: %s', (slug, takes) => {
  expect(!traitsOf(slug).unsupported.includes('verbosity')).toBe(takes)
})
