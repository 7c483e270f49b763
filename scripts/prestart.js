// Runs before `npm start`: builds the bundle if there is none of these sources and the tools for it are installed. It is JavaScript, because the
// machine's own Node runs it if the pinned one was not installed (`--omit=dev`, `--ignore-scripts`), and that one may not support TypeScript.
import { currentBundle, isConsoleCurrent } from '../bin/bundle.js'

if (currentBundle() === undefined) {
  try {
    // A fresh checkout has no packages at all; an installation without the tools (`--omit=dev`) has this one.
    import.meta.resolve('commander')
  } catch {
    process.stderr.write('The packages are not installed yet. Run this first: npm ci\n')
    process.exit(1)
  }
  try {
    await import('rolldown')
    await import('./build.ts')
  } catch (error) {
    process.stdout.write(`no bundle was built (${error.message}): Signalbox runs from its sources and starts a little slower\n`)
  }
}

if (!isConsoleCurrent()) {
  try {
    await import('vite')
    await import('./build-console.ts')
  } catch (error) {
    process.stdout.write(`the web console was not built (${error.message}): the gateway serves without it\n`)
  }
}
