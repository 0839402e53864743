import grpc from 'k6/net/grpc';
import { check } from 'k6';

const client = new grpc.Client();
client.load(['data'], 'health.proto');

export const options = { vus: 2, iterations: 6, thresholds: { checks: ['rate==1'], grpc_req_duration: ['max<10000'] } };

export default () => {
  client.connect(__ENV.GRPC_ADDR, { plaintext: true, timeout: '5s' });
  const healthy = client.invoke('grpc.health.v1.Health/Check', { service: '' }, { metadata: { 'x-user': 'ada' }, tags: { call: 'check' } });
  check(healthy, { 'status is OK': (r) => r && r.status === grpc.StatusOK, 'serving': (r) => r.message.status === 'SERVING' });
  const unknown = client.invoke('grpc.health.v1.Health/Check', { service: 'nobody' });
  check(unknown, { 'not found': (r) => r.status === grpc.StatusNotFound && r.error.message === 'unknown service' });
  client.close();
};
