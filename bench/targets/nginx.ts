import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { upstreamModel } from '../mock/script.ts'
import { freePort, startProgram, type Target } from './target.ts'

const config = (directory: string, port: number, upstream: number): string => `
daemon off; master_process off; worker_processes 1; pid ${directory}/pid; error_log ${directory}/error.log;
events { worker_connections 32768; }
http {
  access_log off; keepalive_requests 100000000; keepalive_timeout 600s; client_body_buffer_size 128k; tcp_nodelay on;
  client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy; fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi; scgi_temp_path ${directory}/scgi;
  upstream mock { server 127.0.0.1:${upstream}; keepalive 2048; keepalive_requests 100000000; keepalive_timeout 600s; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://mock; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; proxy_read_timeout 600s;
    }
  }
}
`

/** The practical limit: a proxy in C. */
export const nginx: Target = {
  name: 'nginx',
  title: 'nginx, proxy_buffering off',
  format: 'chat',
  model: upstreamModel,
  path: '/v1/chat/completions',
  headers: () => ({ authorization: 'Bearer bench' }),
  unavailable: () => (spawnSync('nginx', ['-v']).status === 0 ? undefined : 'nginx is not installed (apt-get install nginx-light)'),
  async start(context) {
    const port = await freePort()
    const directory = join(context.temp, `nginx-${port}`)
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'nginx.conf'), config(directory, port, context.upstreamPort))
    return startProgram(context, port, '/', 'nginx', ['-p', directory, '-c', join(directory, 'nginx.conf'), '-e', join(directory, 'error.log')])
  },
}
