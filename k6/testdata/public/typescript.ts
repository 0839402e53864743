import http, { type Response } from 'k6/http';
import { check } from 'k6';
import type { Options } from 'k6/options';

interface Item { id: number; name: string; price?: number }

export const options: Options = { vus: 2, iterations: 4 };

function parse<T>(response: Response): T {
  return response.json() as unknown as T;
}

export default function (): void {
  const response: Response = http.get(`${__ENV.BASE_URL}/items/9`);
  check(response, { 'typed': (r: Response): boolean => parse<Item>(r).name === 'item 9' });
}
