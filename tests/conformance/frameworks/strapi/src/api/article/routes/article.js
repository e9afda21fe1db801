'use strict';

const { factories } = require('@strapi/strapi');

const open = { auth: false };
module.exports = factories.createCoreRouter('api::article.article', {
  config: { find: open, findOne: open, create: open },
});
