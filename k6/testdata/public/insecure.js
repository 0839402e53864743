import http from 'k6/http';
import { check } from 'k6';

export const options = {
  iterations: 2,
  insecureSkipTLSVerify: true,
  hosts: { 'shop.example.org': '127.0.0.1', '*.cdn.example.org': '127.0.0.1' },
  dns: { ttl: '1m', select: 'first', policy: 'preferIPv4' },
};

export default function () {
  const port = __ENV.SECURE_URL.split(':').pop();
  check(http.get(`https://shop.example.org:${port}/json`), { 'shop': (r) => r.status === 200 });
  check(http.get(`https://images.cdn.example.org:${port}/bytes/9`), { 'images': (r) => r.body.length === 9 });
}
