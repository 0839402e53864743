import http from 'k6/http';
import { check, sleep } from 'k6';
import { randomIntBetween } from './lib/random.js';

export const options = {
  vus: 3,
  duration: '1s',
  tags: { test: 'soak', environment: 'ci' },
  thresholds: { 'http_reqs{environment:ci}': ['count>0'], 'checks{test:soak}': ['rate==1'] },
};

export default function () {
  check(http.get(`${__ENV.BASE_URL}/bytes/2048`), { 'full body': (r) => r.body.length === 2048 });
  sleep(randomIntBetween(20, 60) / 1000);
}
