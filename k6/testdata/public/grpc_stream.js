import grpc, { Client, Stream } from 'k6/net/grpc';
import { check } from 'k6';

const client = new Client();

export const options = { vus: 1, iterations: 3, thresholds: { grpc_streams: ['count==3'], grpc_streams_msgs_received: ['count==3'], checks: ['rate==1'] } };

export default function () {
  if (__ITER === 0) {
    client.connect(__ENV.GRPC_ADDR, { plaintext: true, reflect: true });
  }
  const stream = new Stream(client, 'grpc.health.v1.Health/Watch');
  stream.on('data', (message) => {
    check(message, { 'serving': (m) => m.status === 'SERVING' });
    stream.end();
    client.close();
    client.connect(__ENV.GRPC_ADDR, { plaintext: true, reflect: true });
  });
  stream.on('error', () => {}); // the connection is closed
  stream.write({ service: '' });
}
