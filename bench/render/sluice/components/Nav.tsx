import '../../shop/css/nav.css';

export { Nav as default } from '../../shop/plain';
export const settings = { rendering: 'static' };
