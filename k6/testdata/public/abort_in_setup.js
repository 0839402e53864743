import exec from 'k6/execution';

export function setup() { exec.test.abort('not today'); }

export default function () {}
