import { ownName } from './own-names.ts'

/** Whether items of this type hold a picture in their `result`: of a model's own answer, or made by the gateway's tool. */
export const holdsPicture = (type: string): boolean => type === 'image_generation_call' || ownName(type) === 'image_generation'
