import { MessageBody, SubscribeMessage, WebSocketGateway, type WsResponse } from '@nestjs/websockets';

@WebSocketGateway({ path: '/ws' })
export class EchoGateway {
  @SubscribeMessage('echo')
  echo(@MessageBody() data: string): WsResponse<string> {
    return { event: 'echo', data };
  }
}
