import http from 'k6/http';
import { check } from 'k6';

export const options = { iterations: 3, userAgent: 'ShopTest/1.0', noConnectionReuse: true, noVUConnectionReuse: true };

export default function () {
  const res = http.get(`${__ENV.BASE_URL}/get?q=a%20b&q2=%C3%BC`, {
    headers: { 'X-Request-ID': `${__VU}-${__ITER}`, Accept: 'application/json' }, timeout: '10s',
  });
  check(res, {
    'user agent': (r) => r.json('headers.User-Agent') === 'ShopTest/1.0',
    'request ID': (r) => r.json('headers.X-Request-Id') === `${__VU}-${__ITER}`,
    'query': (r) => r.json('args.q') === 'a b' && r.json('args.q2') === 'ü',
    'remote address': (r) => r.remote_ip === '127.0.0.1' && r.proto === 'HTTP/1.1',
  });
}
