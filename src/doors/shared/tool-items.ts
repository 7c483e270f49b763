import { ownName } from '../../core/own-names.ts'

/** Whether an item of this type is a search: a vendor's own, or one of the gateway's tool. */
export const isSearch = (type: string): boolean => type === 'web_search_call' || ownName(type) === 'web_search'

/** Whether an item of this type is a page that the gateway's tool fetched. */
export const isFetch = (type: string): boolean => ownName(type) === 'web_fetch'
