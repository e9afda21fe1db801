import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Body, Controller, Get, Header, HttpCode, Param, Post, Query, Req, StreamableFile } from '@nestjs/common';
import type { Request } from 'express';
import { AppService } from './app.service.js';

@Controller()
export class AppController {
  constructor(private readonly app: AppService) {}

  @Get()
  @Header('Content-Type', 'text/html; charset=utf-8')
  page(): string {
    return this.app.page();
  }

  @Post('echo')
  @HttpCode(200)
  echo(@Body() body: { message: string }): { message: string } {
    return { message: body.message };
  }

  @Get('stream')
  stream(): StreamableFile {
    async function* parts() {
      yield Buffer.from('first part\n');
      await delay(300);
      yield Buffer.from('second part\n');
    }
    return new StreamableFile(Readable.from(parts(), { objectMode: false }), {
      type: 'text/plain; charset=utf-8',
    });
  }

  @Get('download')
  download(@Query('bytes') bytes: string): StreamableFile {
    return new StreamableFile(Buffer.from('0123456789'.repeat(Number(bytes) / 10)), {
      type: 'text/plain; charset=utf-8',
    });
  }

  @Get('items/:slug')
  item(@Param('slug') slug: string): { slug: string } {
    return { slug };
  }

  @Get('wait')
  async wait(@Req() request: Request, @Query('name') name: string): Promise<void> {
    console.log(`waits ${name}`);
    request.on('close', () => console.log(`left ${name}`));
    await new Promise(() => {});
  }

  @Get('debug')
  debug(@Req() request: Request) {
    return {
      remoteAddress: request.socket.remoteAddress,
      remotePort: request.socket.remotePort,
      remoteFamily: request.socket.remoteFamily,
      ip: request.ip,
      protocol: request.protocol,
      host: request.get('host'),
      headers: request.headers,
      port: process.env.PORT,
      pid: process.pid,
    };
  }
}
