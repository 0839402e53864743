// A load of Assay as a k6 script. To run it:
//   k6 run --no-usage-report FILE
import http from 'k6/http';
import { check, sleep } from 'k6';
import { SharedArray } from 'k6/data';

const base = __ENV.BASE_URL || "http://127.0.0.1:8080";
const stage = __ENV.STAGE || 'measurement';

const scenarios = {
  measurement: {"executor":"shared-iterations","vus":4,"iterations":100,"maxDuration":"720h0m0s","gracefulStop":"31s"},
};

export const options = Object.assign({"userAgent":"assay-load","tlsVersion":{"min":"tls1.2","max":"tls1.3"},"systemTags":["check","error","error_code","expected_response","method","name","proto","scenario","status","vu"]}, { scenarios: { [stage]: scenarios[stage] } });

const requests = new SharedArray('requests', () => [
  {"method":"GET","path":"/1","headers":{"Accept":"*/*"},"length":5,"upTo":2},
  {"method":"DELETE","path":"/2?a=%20","headers":{"Accept":"*/*"},"upTo":3},
]);

// Redirects aren't followed. Statuses from 200 to 399 are a success unless a request has others.
function paramsOf(r, index) {
  const params = {
    headers: r.headers,
    timeout: "30s",
    redirects: 0,
    responseType: r.length === undefined ? 'none' : 'binary',
    tags: { name: 'list' },
  };
  if (r.statuses) {
    params.responseCallback = http.expectedStatuses(...r.statuses);
  }
  if (r.length !== undefined) {
    params.tags.length = String(r.length);
  }
  return params;
}

// at returns the index of the request with a number below the sum of the weights.
function at(n) {
  let from = 0;
  let to = requests.length - 1;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (n < requests[middle].upTo) {
      to = middle;
    } else {
      from = middle + 1;
    }
  }
  return from;
}

let made = 0;
let failures = 0;

export default function () {
  const index = at(made++ % 3);
  const r = requests[index];
  const response = http.request(r.method, base + r.path, null, paramsOf(r, index));
  if (r.length !== undefined) {
    const length = response.body ? response.body.byteLength : 0;
    check(length, { 'the body has the expected length': (n) => n === r.length }, { length: String(r.length) });
  }
  // A server that refuses connections gets no flood of them: codes of k6 for failures to open a connection.
  const code = response.error_code;
  if ((code >= 1100 && code < 1200) || (code >= 1210 && code < 1214) || (code >= 1300 && code < 1400)) {
    failures += 1;
    sleep(Math.min(0.01 * 2 ** (failures - 1), 0.1));
  } else {
    failures = 0;
  }
}
