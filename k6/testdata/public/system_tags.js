import http from 'k6/http';
import { check } from 'k6';

export const options = {
  iterations: 4,
  systemTags: ['url', 'group', 'scenario'],
  thresholds: { 'http_reqs{scenario:default}': ['count==8'], http_req_failed: ['rate==0.5'] },
};

export default function () {
  check(http.get(`${__ENV.BASE_URL}/status/500`), { 'failed': (r) => r.status === 500 });
  http.get(`${__ENV.BASE_URL}/status/200`);
}
