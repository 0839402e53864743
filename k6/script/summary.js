// The test with which k6 runs the handleSummary() of another script. Words in capitals are replaced by JSON.
import * as script from SCRIPT;
import { b64encode } from 'k6/encoding';

// All of the script's options but those that make a load.
const {
  scenarios, stages, duration, iterations, vus, thresholds, executionSegment, executionSegmentSequence, paused, linger, ...others
} = script.options || {};

export const options = {
  ...others,
  scenarios: { summary: { executor: 'per-vu-iterations', vus: 1, iterations: 1 } },
};

export default function () {}

export function handleSummary() {
  if (typeof script.handleSummary !== 'function') {
    return pack({ none: true });
  }
  console.log(BEGINS);
  const returned = script.handleSummary(JSON.parse(DATA));
  return returned && typeof returned.then === 'function' ? returned.then(describe) : describe(returned);
}

function describe(returned) {
  if (returned === undefined || returned === null) {
    return pack({ files: [] });
  }
  if (typeof returned !== 'object') {
    throw new Error('handleSummary() should return a map with string keys');
  }
  return pack({ files: Object.keys(returned).sort().map((name) => file(name, returned[name])) });
}

function file(name, value) {
  const binary = value instanceof Uint8Array ? value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength) : value;
  if (typeof binary !== 'string' && !(binary instanceof ArrayBuffer)) {
    throw new Error(`error handling summary object ${name}: invalid type ${typeof value}, expected a string or an ArrayBuffer`);
  }
  const size = typeof binary === 'string' ? binary.length : binary.byteLength;
  if (size > LIMIT) {
    return { name, size };
  }
  return typeof binary === 'string' ? { name, text: binary } : { name, data: b64encode(binary) };
}

function pack(output) {
  return { [OUTPUT]: JSON.stringify(output) };
}
