// A load of Assay as a k6 script. To run it:
//   GODEBUG=http2client=0 k6 run --no-usage-report FILE
// and before it the warm-up, with -e STAGE=warmup.
import http from 'k6/http';
import { check, randomSeed, sleep } from 'k6';
import { randomBytes } from 'k6/crypto';

const base = __ENV.BASE_URL || "http://127.0.0.1:8080";
const stage = __ENV.STAGE || 'measurement';

const scenarios = {
  warmup: {"executor":"shared-iterations","vus":4,"iterations":20,"maxDuration":"720h0m0s","gracefulStop":"31s"},
  measurement: {"executor":"shared-iterations","vus":4,"iterations":100,"maxDuration":"720h0m0s","gracefulStop":"31s"},
};

export const options = Object.assign({"userAgent":"assay-load","systemTags":["check","error","error_code","expected_response","method","name","proto","scenario","status","vu"]}, { scenarios: { [stage]: scenarios[stage] } });

const requests = [
  {"method":"GET","path":"/a.html","headers":{"Accept":"*/*","Host":"shop.example.org"},"length":1024,"upTo":3},
  {"method":"POST","path":"/b?x=`${z}`%20","headers":{"Content-Type":"text/plain; charset=utf-8","Host":"shop.example.org","accept":"text/html"},"body":"a \"text\"\n\u2028`${z}`</script>","statuses":[200,404],"upTo":4},
  {"method":"PUT","path":"/c","headers":{"Accept":"*/*","Content-Type":"application/octet-stream","Host":"other"},"bytes":4096,"length":0,"upTo":5},
  {"method":"HEAD","path":"/d","headers":{"Accept":"*/*","Host":"shop.example.org"},"length":10,"upTo":6},
];

// Redirects aren't followed. Statuses from 200 to 399 are a success unless a request has others.
function paramsOf(r, index) {
  const params = {
    headers: r.headers,
    timeout: "30s",
    redirects: 0,
    responseType: r.length === undefined ? 'none' : 'binary',
    tags: { name: r.method + ' ' + r.path, request: String(index) },
  };
  if (r.statuses) {
    params.responseCallback = http.expectedStatuses(...r.statuses);
  }
  if (r.length !== undefined) {
    params.tags.length = String(r.length);
  }
  return params;
}
const params = requests.map(paramsOf);
const bodies = requests.map((r) => r.bytes ? randomBytes(r.bytes) : r.body || null);

randomSeed(7 + __VU);

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

let failures = 0;

export default function () {
  const index = at(Math.floor(Math.random() * 6));
  const r = requests[index];
  const response = http.request(r.method, base + r.path, bodies[index], params[index]);
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
