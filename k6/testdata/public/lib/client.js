import http from 'k6/http';
import { check } from 'k6';

export const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';

export class ShopClient {
  constructor(token) {
    this.params = { headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' } };
  }

  static login(username, password) {
    const response = http.post(`${BASE_URL}/login`, JSON.stringify({ username, password }), { headers: { 'Content-Type': 'application/json' } });
    check(response, { 'logged in': (r) => r.status === 200 });
    return new ShopClient(response.json('token'));
  }

  orders() {
    return http.get(`${BASE_URL}/orders`, this.params);
  }

  order(item, quantity) {
    return http.post(`${BASE_URL}/orders`, JSON.stringify({ item, quantity }), this.params);
  }
}
