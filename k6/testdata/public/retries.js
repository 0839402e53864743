import http from 'k6/http';
import { check, sleep } from 'k6';
import { Counter } from 'k6/metrics';

const retried = new Counter('retried');

export const options = { vus: 2, iterations: 4, thresholds: { retried: ['count==8'], http_req_failed: ['rate<0.7'] } };

function withRetries(request, attempts = 3) {
  for (let i = 1; ; i++) {
    const res = request();
    if (res.status < 500 || i === attempts) {
      return res;
    }
    retried.add(1);
    sleep(0.01 * 2 ** i);
  }
}

export default function () {
  const res = withRetries(() => http.get(`${__ENV.BASE_URL}/flaky/${__VU}-${__ITER}`));
  check(res, { 'succeeded in the end': (r) => r.status === 200 });
}
