export { UNTRUSTED } from '../../core/untrusted.ts'
