import http from 'k6/http';
import crypto from 'k6/crypto';
import encoding from 'k6/encoding';
import { check } from 'k6';

export const options = { iterations: 2 };

function jwt(payload, secret) {
  const part = (value) => encoding.b64encode(JSON.stringify(value), 'rawurl');
  const unsigned = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(payload)}`;
  const signature = crypto.hmac('sha256', secret, unsigned, 'base64rawurl');
  return `${unsigned}.${signature}`;
}

export default function () {
  const token = jwt({ sub: 'ada' }, 'secret');
  const res = http.get(`${__ENV.BASE_URL}/get`, { headers: { Authorization: `Bearer ${token}` } });
  check(res, {
    'three parts': (r) => r.json('headers.Authorization').split('.').length === 3,
    'digest': () => crypto.sha256('a', 'hex').startsWith('ca978112ca1b'),
  });
}
