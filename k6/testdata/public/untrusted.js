// The certificate isn't for the name in the URL: each request fails.
import http from 'k6/http';
import { check } from 'k6';

export const options = { iterations: 2, hosts: { 'shop.example.org': '127.0.0.1' }, thresholds: { http_req_failed: ['rate==1'] } };

export default function () {
  const res = http.get(`https://shop.example.org:${__ENV.SECURE_URL.split(':').pop()}/json`);
  check(res, { 'failed': (r) => r.status === 0 && r.error_code >= 1300 && r.error_code < 1400 });
}
