// Ramp up, stay, ramp down.
import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = {
  stages: [
    { duration: '300ms', target: 4 },
    { duration: '500ms', target: 4 },
    { duration: '200ms', target: 0 },
  ],
  thresholds: { http_req_failed: ['rate==0'], 'http_req_duration{expected_response:true}': ['p(99)<5000'] },
};

export default function () {
  const res = http.get(`${__ENV.BASE_URL}/items/7`);
  check(res, { 'is the item': (r) => r.json().id === 7 });
  sleep(0.05);
}
