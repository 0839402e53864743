import http from 'k6/http';
import { check, group } from 'k6';
import { ShopClient, BASE_URL } from './lib/client.js';

export const options = { vus: 2, iterations: 4, thresholds: { checks: ['rate==1'], 'http_req_duration{method:PUT}': ['max<20000'] } };

export default function () {
  const client = ShopClient.login('grace', 'passwd');
  const json = { headers: { 'Content-Type': 'application/json' } };
  const created = client.order(12, 4);
  check(created, { 'created': (r) => r.status === 201 && r.headers.Location.startsWith('/orders/'), 'echoes the order': (r) => r.json('order.quantity') === 4 });
  group('update', () => {
    check(http.put(`${BASE_URL}/put`, JSON.stringify({ quantity: 5 }), json), { 'put': (r) => r.json('json.quantity') === 5 });
    check(http.patch(`${BASE_URL}/patch`, JSON.stringify({ quantity: 6 }), json), { 'patched': (r) => r.json('json.quantity') === 6 });
  });
  check(http.del(`${BASE_URL}/delete`, null, json), { 'deleted': (r) => r.status === 200 });
  check(http.request('OPTIONS', `${BASE_URL}/anything/x`), { 'options': (r) => r.status === 200 });
  check(http.head(`${BASE_URL}/anything/x`), { 'head': (r) => r.status === 200 && r.body === '' });
  check(client.orders(), { 'listed': (r) => r.json('orders').length === 0 });
}
