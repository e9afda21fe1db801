import '../../shop/css/nav.css';

export { Crumbs as default } from '../../shop/plain';
export const settings = { rendering: 'static' };
