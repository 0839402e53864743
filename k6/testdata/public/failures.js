// Requests that time out, are refused or get an unexpected status.
import http from 'k6/http';
import { check } from 'k6';

http.setResponseCallback(http.expectedStatuses({ min: 200, max: 299 }, 404));

export const options = { vus: 1, iterations: 2, thresholds: { http_req_failed: ['rate==0.6'], 'http_req_duration{expected_response:true}': ['max<20000'] } };

export default function () {
  check(http.get(`${__ENV.BASE_URL}/items/404`), { 'expected 404': (r) => r.status === 404 });
  check(http.get(`${__ENV.BASE_URL}/delay/2000`, { timeout: '50ms' }), { 'timed out': (r) => r.error_code === 1050 });
  check(http.get('http://127.0.0.1:1/'), { 'refused': (r) => r.error_code === 1212 });
  check(http.get(`${__ENV.BASE_URL}/status/500`), { 'unexpected': (r) => r.error_code === 1500 });
  check(http.get(`${__ENV.BASE_URL}/json`), { 'fine': (r) => r.error_code === 0 });
}
