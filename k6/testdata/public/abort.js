import http from 'k6/http';
import exec from 'k6/execution';

export const options = { vus: 1, iterations: 100 };

export default function () {
  const res = http.get(`${__ENV.BASE_URL}/status/${exec.scenario.iterationInTest === 3 ? 500 : 200}`);
  if (res.status !== 200) {
    exec.test.abort(`status ${res.status}`);
  }
}

export function teardown() {
  http.get(`${__ENV.BASE_URL}/anything/teardown`);
}
