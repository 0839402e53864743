import http from 'k6/http';
import { check } from 'k6';

const text = open('./data/items.csv');
const binary = open('./data/items.csv', 'b');

export const options = { vus: 2, iterations: 4 };

export default function () {
  const res = http.post(`${__ENV.BASE_URL}/upload`, {
    description: 'all items',
    text: http.file(text, 'items.csv', 'text/csv'),
    binary: http.file(binary, 'items.bin'),
  });
  check(res, {
    'uploaded': (r) => r.status === 200,
    'both files have their size': (r) => r.json('files.text.size') === text.length && r.json('files.binary.size') === binary.byteLength,
    'names and types': (r) => r.json('files.text.name') === 'items.csv' && r.json('files.text.type') === 'text/csv',
    'field': (r) => r.json('fields.description.0') === 'all items',
  });
}
