'use strict';

module.exports = () => ({
  serveAdminPanel: false,
  auth: { secret: 'secret-of-a-test' },
  apiToken: { salt: 'salt-of-a-test' },
  transfer: { token: { salt: 'another-salt-of-a-test' } },
  secrets: { encryptionKey: 'key-of-a-test' },
});
