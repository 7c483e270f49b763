import { GatewayError } from '../core/error.ts'
import { isJsonObject } from '../lib/json.ts'
import type { Door } from './shared/door.ts'

/** Some vendors serve these formats below this folder, and their clients know no other place. */
export const FOLDER = '/api/openai'
/** The same by the name of a deployment, which stands for a model: `<model>/chat/completions`. */
export const DEPLOYMENTS_PATH = `${FOLDER}/deployments/`

/** A door as it is below this folder: keys may be in the header of the vendors' clients. */
export const belowFolder = (door: Door): Door => ({ ...door, keyHeader: 'api-key' })

/** A door as it is for a deployment: that is the model, whatever the body names. `method`: the end of the address. */
export const ofDeployment = (door: Door, method: string): Door => ({
  ...belowFolder(door),
  read(sent, exactly, url = '') {
    const model = modelIn(url.split('?', 1)[0]!.slice(DEPLOYMENTS_PATH.length, -method.length))
    return door.read(isJsonObject(sent) ? { ...sent, model } : sent, exactly, url)
  },
})

function modelIn(written: string): string {
  try {
    return decodeURIComponent(written)
  } catch {
    throw new GatewayError('invalid_request', `model must be named in the path: ${DEPLOYMENTS_PATH}<author>/<model>/chat/completions`, {
      path: 'model',
    })
  }
}
