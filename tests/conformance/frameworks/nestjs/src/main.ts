import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { WsAdapter } from '@nestjs/platform-ws';
import { AppModule } from './app.module.js';

const app = await NestFactory.create<NestExpressApplication>(AppModule);
app.useWebSocketAdapter(new WsAdapter(app));
app.useStaticAssets(`${import.meta.dirname}/../public`);
app.enableShutdownHooks();
await app.listen(process.env.PORT ?? 3000);
