import { check } from 'k6';
import { ShopClient } from './client.js';

export default function () {
  const client = ShopClient.login('ada', 'passwd');
  check(client.order(7, 1), { 'ordered': (r) => r.status === 201 });
}
