import http from 'k6/http';
import exec from 'k6/execution';
import { check } from 'k6';
import { SharedArray } from 'k6/data';
import csv from 'k6/experimental/csv';
import { open as openFile } from 'k6/experimental/fs';

// A parser by hand, as many scripts have one, and k6's own.
const rows = new SharedArray('rows', () => open('data/items.csv').trim().split('\n').slice(1).map((line) => {
  const [id, ...rest] = line.split(',');
  return { id: Number(id), quantity: Number(rest.pop()), name: rest.join(',').replace(/"/g, '') };
}));
const file = await openFile('./data/items.csv');
const records = await csv.parse(file, { delimiter: ',', skipFirstLine: true });

export const options = { vus: 2, iterations: 8, thresholds: { checks: ['rate==1'] } };

export default async function () {
  const i = exec.scenario.iterationInTest % rows.length;
  const res = await http.asyncRequest('GET', `${__ENV.BASE_URL}/items/${rows[i].id}`);
  check(res, { 'is the item': (r) => r.json('id') === rows[i].id, 'parsers agree': () => records[i][1] === rows[i].name });
}
