import http from 'k6/http';
import { check } from 'k6';

export const options = { vus: 2, iterations: 4 };

const query = `query Item($id: Int!) { item(id: $id) { id } }`;

export default function () {
  const headers = { 'Content-Type': 'application/json' };
  const found = http.post(`${__ENV.BASE_URL}/graphql`, JSON.stringify({ query, variables: { id: 7 } }), { headers });
  check(found, { 'no errors': (r) => r.status === 200 && !r.json('errors'), 'is the item': (r) => r.json('data.item.id') === 7 });
  const unknown = http.post(`${__ENV.BASE_URL}/graphql`, JSON.stringify({ query: '{ nothing }' }), { headers });
  check(unknown, { 'errors with status 200': (r) => r.status === 200 && r.json('errors').length === 1 });
}
