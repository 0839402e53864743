const http = require('k6/http');
const { check } = require('k6');
const { randomIntBetween } = require('./lib/random.js');

exports.options = { iterations: 2 };

exports.default = function () {
  const res = http.get(`${__ENV.BASE_URL}/items/${randomIntBetween(7, 7)}`, { responseType: 'binary' });
  check(res, { 'binary': (r) => new Uint8Array(r.body).length > 10 });
};
