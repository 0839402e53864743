import http from 'k6/http';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const errors = new Counter('my_errors');
const stock = new Gauge('stock');
const served = new Rate('served');
const waiting = new Trend('waiting', true);
const sizes = new Trend('sizes');

export const options = {
  vus: 1,
  iterations: 10,
  thresholds: {
    my_errors: ['count==5', { threshold: 'count<100', abortOnFail: true }],
    stock: ['value==1'],
    served: ['rate==0.5'],
    waiting: ['p(90)<10000', 'avg<10000'],
    sizes: ['min==0', 'max==900', 'avg==450', 'med>449', 'med<451', 'p(50)>=400'],
  },
};

export default function () {
  const fails = __ITER % 2 === 1;
  const res = http.get(`${__ENV.BASE_URL}${fails ? '/status/500' : `/bytes/${__ITER * 100}`}`);
  errors.add(fails);
  served.add(!fails);
  stock.add(10 - __ITER);
  waiting.add(res.timings.waiting);
  sizes.add(__ITER * 100);
}
