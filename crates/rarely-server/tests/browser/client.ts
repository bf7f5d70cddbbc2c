// A program of somebody else, typed by what openapi-typescript makes of the OpenAPI document. It prints what it did, as JSON.
import createClient from 'openapi-fetch';
import type { paths } from './api';

const [address, token, policy] = process.argv.slice(2) as [string, string, string];
const client = createClient<paths>({ baseUrl: address, headers: { Authorization: `Bearer ${token}` } });

async function main(): Promise<void> {
  const params = { path: { name: policy } };
  const made = await client.POST('/v1/policies/{name}/decisions', { params, body: { record: { systolic: 150 }, key: 'visit 1' } });
  // A batch would be answered by a text, one line for each decision.
  if (made.data === undefined || typeof made.data === 'string') throw new Error(JSON.stringify(made.error));
  const { decision, option, version, propensity } = made.data;
  const number: number = decision;
  const taken = await client.POST('/v1/policies/{name}/outcomes', { params, body: { decision: number, outcome: 0.5 } });
  if (taken.data === undefined || typeof taken.data === 'string') throw new Error(JSON.stringify(taken.error));
  const refused = await client.POST('/v1/policies/{name}/decisions', { params, body: { record: { systolic: 'high' } } });
  const detail: string | undefined = refused.error?.detail;
  const listed = await client.GET('/v1/policies');
  const names: string[] = (listed.data?.policies ?? []).map((known) => known.name);
  console.log(JSON.stringify({ option, version, propensity, repeated: taken.data.repeated, detail, names }));
}

main().catch((error: unknown) => { console.error(error); process.exit(1); });
