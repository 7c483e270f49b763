/**
 * `node:http` without its namespace. An `import` reads every export, and one of them loads Node's own copy of undici: two megabytes and fifteen
 * milliseconds for something that is not used here.
 */
export const { createServer, request } = process.getBuiltinModule('node:http')
