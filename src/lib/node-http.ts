/**
 * `node:http` without its namespace. An `import` of it reads every export, and one of them loads Node's own copy of undici: two megabytes
 * and fifteen milliseconds that nobody here has a use for.
 */
export const { createServer, request } = process.getBuiltinModule('node:http')
