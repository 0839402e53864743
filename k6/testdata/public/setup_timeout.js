import { sleep } from 'k6';

export const options = { setupTimeout: '200ms' };

export function setup() { sleep(30); }

export default function () {}
