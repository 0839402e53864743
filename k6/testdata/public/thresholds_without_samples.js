// k6 evaluates thresholds on metrics without samples, too.
import http from 'k6/http';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

new Counter('no_counter');
new Gauge('no_gauge');
new Rate('no_rate');
new Trend('no_trend');

export const options = {
  iterations: 1,
  thresholds: {
    no_counter: ['count==0', 'count>0', 'rate==0'],
    no_gauge: ['value==0', 'value>0'],
    no_rate: ['rate<0.1', 'rate>0.9', 'rate==1'],
    no_trend: ['p(95)<500', 'avg>1', 'min==0', 'med==0', 'max<1'],
    'http_req_duration{name:nobody}': ['p(99)<1', 'max>1'],
    'http_req_failed{name:nobody}': ['rate==0'],
    checks: ['rate==1'],
  },
};

export default function () {
  http.get(`${__ENV.BASE_URL}/json`);
}
