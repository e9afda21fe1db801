import { Injectable } from '@nestjs/common';

@Injectable()
export class AppService {
  page(): string {
    return `<!doctype html><title>NestJS</title><h1>Hello from nestjs</h1><p>${new Date().toISOString()}</p>`;
  }
}
