// An identity provider for the tests: oidc-provider on a port of its own, with a few people. Prints its address.
// Arguments: the directory of node_modules, and the address that people are sent back to.
import { createServer } from 'node:http';
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, redirect] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(modules, path)).href);
const { Provider } = await load('oidc-provider/lib/index.js');
const { SignJWT, decodeJwt, importJWK } = await load('jose/dist/webapi/index.js');

const people = {
  ann: { name: 'Ann', roles: ['review', 'a role of another program'] },
  ben: { name: 'Ben Ito', roles: 'auditor' },
  eve: { name: 'Eve Ray', roles: [] },
  mia: { name: 'Mia Olt', roles: ['admin'] },
};
const key = { ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' };

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'rarely', client_secret: 'a secret of the tests', redirect_uris: [redirect] }],
    jwks: { keys: [key] },
    cookies: { keys: ['only for tests'] },
    claims: { openid: ['sub'], profile: ['name', 'roles'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: (_, id) => people[id] && { accountId: id, claims: () => ({ sub: id, ...people[id] }) },
  });
  provider.use(async (context, next) => {
    await next();
    // Mia's token is made out to another service: our signature, the wrong audience.
    const token = context.path === '/token' && context.body?.id_token;
    if (token && decodeJwt(token).sub === 'mia') {
      const claims = { ...decodeJwt(token), aud: 'another service' };
      const signer = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k' });
      context.body = { ...context.body, id_token: await signer.sign(await importJWK(key, 'RS256')) };
    }
  });
  server.on('request', provider.callback());
  console.log(issuer);
});
