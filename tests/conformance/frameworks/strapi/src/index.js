'use strict';

module.exports = {
  register() {},
  /** The first article, in a database that has none. */
  async bootstrap({ strapi }) {
    const articles = strapi.documents('api::article.article');
    if ((await articles.count()) === 0) await articles.create({ data: { title: 'Made at the first start' } });
  },
};
