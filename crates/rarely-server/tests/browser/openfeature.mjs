// Evaluates a policy as a flag, with OpenFeature's own SDK and its provider for OFREP. Prints what it gets, as JSON.
// Arguments: the directory of node_modules, the address of the service, a token, the policy.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [modules, baseUrl, token, policy] = process.argv.slice(2);
const require = createRequire(join(modules, 'here.js'));
const { OpenFeature } = require('@openfeature/server-sdk');
const { OFREPProvider } = require('@openfeature/ofrep-provider');

const provider = new OFREPProvider({ baseUrl, headers: [['Authorization', `Bearer ${token}`]] });
await OpenFeature.setProviderAndWait(provider);
const client = OpenFeature.getClient();
const person = { targetingKey: 'patient 1', systolic: 150 };
console.log(JSON.stringify({
  first: await client.getStringDetails(policy, 'nothing', person),
  again: await client.getStringDetails(policy, 'nothing', person),
  beyond: await client.getStringDetails(policy, 'nothing', { ...person, systolic: 900 }),
  unknown: await client.getStringDetails('no such policy', 'nothing', person),
}));
await OpenFeature.close();
