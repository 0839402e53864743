import http from 'k6/http';
import { check, group } from 'k6';

export const options = {
  vus: 2,
  iterations: 6,
  thresholds: {
    'group_duration{group:::checkout}': ['max<20000'],
    'http_req_duration{group:::checkout::payment}': ['max<20000'],
    'checks{group:::checkout::payment}': ['rate==1'],
    'checks{group:::front page}': ['rate<1'],
  },
};

export default function () {
  group('front page', () => {
    check(http.get(`${__ENV.BASE_URL}/`), { 'status is 200': (r) => r.status === 200, 'is in French': (r) => r.body.includes('Boutique') });
  });
  group('checkout', () => {
    http.get(`${__ENV.BASE_URL}/items/1`);
    const total = group('payment', () => {
      const res = http.post(`${__ENV.BASE_URL}/post`, { total: '12' });
      check(res, { 'status is 200': (r) => r.status === 200 });
      return res.json('form.total');
    });
    check(total, { 'total is returned': (t) => t === '12' });
  });
}
