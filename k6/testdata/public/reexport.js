export { default } from './lib/journey.js';
export { options } from './lib/options.js';
